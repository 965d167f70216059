import { duration } from '../format';
import { t } from '../i18n';
import type { Bar, Marker } from '../run-timing';
import { VirtualList } from './virtual-list';

const ROW_PX = 30;
/** Parts of the rows, in the order of the legend. */
const KINDS = ['queue', 'wait', 'model', 'tool', 'other', 'waiting', 'resumed'] as const;
type Kind = (typeof KINDS)[number];

/**
 * The steps of a run on the axis of its time. A model call has its wait for the first token in a lighter colour.
 * @param from start of the axis, epoch ms
 * @param to end of the axis
 * @param queueMs time before the run started
 */
export function Waterfall({
  bars,
  markers,
  from,
  to,
  queueMs,
  selected,
  onSelect,
}: {
  readonly bars: readonly Bar[];
  readonly markers: readonly Marker[];
  readonly from: number;
  readonly to: number;
  readonly queueMs: number;
  readonly selected: string | undefined;
  readonly onSelect: (name: string) => void;
}) {
  const span = Math.max(1, to - from);
  const x = (at: number) => ((at - from) / span) * 1000;
  return (
    <>
      <VirtualList items={bars} rowHeight={ROW_PX} label={t('run.steps')} class="lanes">
        {(bar, at) => (
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
              {at === 0 && queueMs > 0 && <Rectangle kind="queue" from={0} to={x(from + queueMs)} />}
              <Rectangle kind={kindOf(bar)} from={x(bar.start)} to={x(bar.end)} />
              {bar.firstToken !== null && <Rectangle kind="wait" from={x(bar.start)} to={x(bar.firstToken)} />}
              {markers.map((marker) => (
                <line key={marker.at} class={`bar-${marker.kind}`} x1={x(marker.at)} x2={x(marker.at)} y1="0" y2="20" />
              ))}
            </svg>
            <span class="small number">
              {(bar.step.attempts ?? 1) > 1 && (
                <span class="retries" title={`${t('step.attempts')}: ${bar.step.attempts}`}>
                  ×{bar.step.attempts}{' '}
                </span>
              )}
              {bar.isExact ? '' : '≈ '}
              {duration(bar.end - bar.start)}
            </span>
          </button>
        )}
      </VirtualList>
      <Legend bars={bars} markers={markers} hasQueue={queueMs > 0} />
    </>
  );
}

/** What the colours of the rows mean; only those that occur. */
function Legend({
  bars,
  markers,
  hasQueue,
}: {
  readonly bars: readonly Bar[];
  readonly markers: readonly Marker[];
  readonly hasQueue: boolean;
}) {
  const found = new Set<Kind>([...bars.map(kindOf), ...markers.map(({ kind }) => kind)]);
  if (hasQueue) found.add('queue');
  if (bars.some(({ firstToken }) => firstToken !== null)) found.add('wait');
  return (
    <ul class="legend small muted">
      {KINDS.filter((kind) => found.has(kind)).map((kind) => (
        <li key={kind}>
          <svg viewBox="0 0 12 12" aria-hidden="true">
            {kind === 'waiting' || kind === 'resumed' ? (
              <line class={`bar-${kind}`} x1="6" x2="6" y1="0" y2="12" />
            ) : (
              <rect class={`bar-${kind}`} width="12" height="12" rx="2" />
            )}
          </svg>
          {t(`bar.${kind}`)}
        </li>
      ))}
    </ul>
  );
}

function Rectangle({ kind, from, to }: { readonly kind: string; readonly from: number; readonly to: number }) {
  return <rect class={`bar-${kind}`} x={from} y="4" width={Math.max(3, to - from)} height="12" rx="2" />;
}

function kindOf({ step }: Bar): 'model' | 'tool' | 'other' {
  if (step.kind === 'model') return 'model';
  return step.kind === 'tool' ? 'tool' : 'other';
}
