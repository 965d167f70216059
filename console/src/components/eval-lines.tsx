import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { count } from '../format';
import { t } from '../i18n';
import { Filters } from './filters';

/** Rows of the table of lines before a button shows further ones. */
const ROWS = 200;

/** The lines of an eval, or of two, with their filters. */
export function EvalLines<T>({
  found,
  all,
  filters,
  children,
}: {
  /** Those that match the filters. */
  readonly found: readonly T[];
  readonly all: number;
  readonly filters: ComponentChildren;
  /** The table of the shown ones. */
  readonly children: (shown: readonly T[]) => ComponentChildren;
}) {
  const [rows, setRows] = useState(ROWS);
  return (
    <section class="stack">
      <div class="head">
        <h2>{t('evals.lines')}</h2>
        <span class="muted">{t('evals.shown', { shown: count(found.length), all: count(all) })}</span>
      </div>
      <Filters>{filters}</Filters>
      {found.length === 0 ? <p class="empty">{t('evals.noMatch')}</p> : children(found.slice(0, rows))}
      {found.length > rows && (
        <div>
          <button type="button" onClick={() => setRows(rows + ROWS)}>
            {t('more')}
          </button>
        </div>
      )}
    </section>
  );
}

/** The id of a line, with the start of its question. */
export function LineName({ line, input = '' }: { readonly line: string; readonly input?: string | undefined }) {
  return (
    <>
      {line}
      {input !== '' && <div class="small muted">{input}</div>}
    </>
  );
}
