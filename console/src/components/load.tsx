import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { ApiError, request, type Query } from '../api';
import { t } from '../i18n';

export interface Loaded<T> {
  /** `undefined` before the first answer. */
  readonly value: T | undefined;
  readonly error: Error | undefined;
  readonly reload: () => void;
}

/** Reads from the API, again when the path or the query changes. An earlier request is aborted. */
export function useLoad<T>(path: string | null, query: Query = {}): Loaded<T> {
  const [state, setState] = useState<{ value?: T; error?: Error; of?: string }>({});
  const [turn, setTurn] = useState(0);
  const source = path === null ? null : JSON.stringify([path, query]);
  useEffect(() => {
    if (path === null || source === null) return undefined;
    const controller = new AbortController();
    request<T>(path, query, { signal: controller.signal }).then(
      (value) => setState({ value, of: source }),
      (error: Error) => {
        if (controller.signal.aborted) return;
        setState((old) => ({ ...(old.of === source && { value: old.value }), error, of: source }));
      },
    );
    return () => controller.abort();
  }, [source, turn]);
  const reload = useCallback(() => setTurn((old) => old + 1), []);
  const { value, error, of } = state;
  // A value of another source would be shown under a wrong heading.
  return of === source ? { value, error, reload } : { value: undefined, error: undefined, reload };
}

/** The same, with the last value while the next one loads: for a query whose time moves on. */
export function useLatest<T>(loaded: Loaded<T>): Loaded<T> {
  const latest = useRef<T | undefined>(undefined);
  latest.current = loaded.value ?? latest.current;
  return { ...loaded, value: latest.current };
}

/** Shows a loaded value, or why there is none. */
export function Show<T>({
  of: { value, error, reload },
  title,
  children,
}: {
  readonly of: Loaded<T>;
  /** Heading of the page while there is no value, which otherwise brings its own. */
  readonly title?: string;
  readonly children: (value: T) => ComponentChildren;
}) {
  return (
    <>
      {title !== undefined && value === undefined && <h1>{title}</h1>}
      {error && <Fault error={error} retry={reload} />}
      {value !== undefined && children(value)}
      {value === undefined && !error && <p class="empty">{t('loading')}</p>}
    </>
  );
}

export function Fault({ error, retry }: { readonly error: Error; readonly retry?: () => void }) {
  const { code, status } = error instanceof ApiError ? error : { code: '', status: -1 };
  return (
    <div class="notice bad" role="alert">
      <div>{status === 0 ? t('unreachable') : error.message}</div>
      <div class="row small">
        {code !== '' && <code>{code}</code>}
        {retry && <button onClick={retry}>{t('retry')}</button>}
      </div>
    </div>
  );
}
