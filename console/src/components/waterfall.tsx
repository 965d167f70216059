import { duration } from '../format';
import { t } from '../i18n';
import type { Bar, Marker } from '../run-timing';
import { VirtualList } from './virtual-list';

const ROW_PX = 30;

/**
 * The steps of a run on the axis of its time. A model call has its wait for the first token in a lighter colour.
 * @param from start of the axis, epoch ms
 * @param to end of the axis
 */
export function Waterfall({
  bars,
  markers,
  from,
  to,
  selected,
  onSelect,
}: {
  readonly bars: readonly Bar[];
  readonly markers: readonly Marker[];
  readonly from: number;
  readonly to: number;
  readonly selected: string | undefined;
  readonly onSelect: (name: string) => void;
}) {
  const span = Math.max(1, to - from);
  const x = (at: number) => ((at - from) / span) * 1000;
  return (
    <VirtualList items={bars} rowHeight={ROW_PX} label={t('run.steps')} class="lanes">
      {(bar) => (
        <button
          type="button"
          class="lane"
          data-row
          aria-pressed={bar.step.name === selected}
          style={{ height: `${ROW_PX}px` }}
          onClick={() => onSelect(bar.step.name)}
        >
          <span class="small">
            {bar.step.subject || bar.step.kind} <span class="muted mono">{bar.step.name}</span>
          </span>
          <svg viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true">
            <Rectangle kind={kindOf(bar)} from={x(bar.start)} to={x(bar.end)} />
            {bar.firstToken !== null && <Rectangle kind="wait" from={x(bar.start)} to={x(bar.firstToken)} />}
            {markers.map(({ at, kind }) => (
              <line
                key={at}
                class={kind === 'resumed' ? 'bar-marker' : 'bar-queue'}
                x1={x(at)}
                x2={x(at)}
                y1="0"
                y2="20"
              />
            ))}
          </svg>
          <span class="small number">
            {bar.isExact ? '' : '≈ '}
            {duration(bar.end - bar.start)}
          </span>
        </button>
      )}
    </VirtualList>
  );
}

function Rectangle({ kind, from, to }: { readonly kind: string; readonly from: number; readonly to: number }) {
  return <rect class={`bar-${kind}`} x={from} y="4" width={Math.max(3, to - from)} height="12" rx="2" />;
}

function kindOf({ step }: Bar): 'model' | 'tool' | 'other' {
  if (step.kind === 'model') return 'model';
  return step.kind === 'tool' ? 'tool' : 'other';
}
