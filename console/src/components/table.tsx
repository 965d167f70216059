import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { request, type Query } from '../api';
import { t } from '../i18n';
import { Fault } from './load';

export interface Column<T> {
  readonly title: string;
  readonly cell: (item: T) => ComponentChildren;
  readonly isNumber?: boolean;
  /** Sentences, which get a readable width: the table scrolls instead. */
  readonly isText?: boolean;
  /** A badge or a link, which stays whole. */
  readonly isNarrow?: boolean;
}

/** A table that scrolls sideways in a narrow window. */
export function Table<T>({
  label,
  columns,
  items,
  keyOf,
}: {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
}) {
  return (
    <div class="scroll card" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? 'number' : ''}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={keyOf(item)}>
              {columns.map(({ title, cell, isNumber, isText, isNarrow }) => (
                <td key={title} class={isNumber ? 'number' : isText ? 'wrap text' : isNarrow ? 'whole' : 'wrap'}>
                  {cell(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export interface Pages<T> {
  /** `undefined` before the first page. */
  readonly items: readonly T[] | undefined;
  readonly error: Error | undefined;
  readonly hasMore: boolean;
  readonly more: () => void;
  readonly reload: () => void;
}

/** The pages of a list of the API so far. @param member the list in the answer, such as `sessions` */
export function usePages<T>(path: string, member: string, query: Query = {}): Pages<T> {
  const [state, setState] = useState<{ items?: readonly T[]; next?: string | null }>({});
  const [error, setError] = useState<Error>();
  const source = JSON.stringify([path, query]);
  const read = async (cursor?: string) => {
    try {
      const page = await request<Record<string, unknown>>(path, { limit: 50, ...query, ...(cursor && { cursor }) });
      const found = page[member] as readonly T[];
      const next = (page['next'] ?? null) as string | null;
      setState((old) => ({ items: cursor === undefined ? found : [...(old.items ?? []), ...found], next }));
      setError(undefined);
    } catch (caught) {
      setError(caught as Error);
    }
  };
  useEffect(() => {
    setState({});
    void read();
  }, [source]);
  const { items, next } = state;
  return {
    items,
    error,
    hasMore: typeof next === 'string',
    more: () => void read(next ?? undefined),
    reload: () => void read(),
  };
}

/** The items of a list with a button for more, or a text without items. */
export function PageList<T>({
  pages: { items, error, hasMore, more, reload },
  empty,
  children,
}: {
  readonly pages: Pages<T>;
  readonly empty: string;
  readonly children: (items: readonly T[]) => ComponentChildren;
}) {
  return (
    <>
      {error && <Fault error={error} retry={reload} />}
      {items === undefined && !error && <p class="empty">{t('loading')}</p>}
      {items?.length === 0 && <p class="empty">{empty}</p>}
      {items !== undefined && items.length > 0 && children(items)}
      {hasMore && (
        <div>
          <button type="button" onClick={more}>
            {t('more')}
          </button>
        </div>
      )}
    </>
  );
}
