import { useEffect, useState } from 'preact/hooks';
import { request } from './api';
import type { RunJournal } from './types';

/** All pages of a journal. */
export function useJournal(id: string) {
  const [value, setValue] = useState<RunJournal>();
  const [error, setError] = useState<Error>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    void readJournal(id, controller.signal, setValue, setError);
    return () => controller.abort();
  }, [id, turn]);
  return { value, error, reload: () => setTurn((old) => old + 1) };
}

async function readJournal(
  id: string,
  signal: AbortSignal,
  onValue: (journal: RunJournal) => void,
  onError: (error: Error | undefined) => void,
): Promise<void> {
  try {
    let whole: RunJournal | undefined;
    let after: number | null = 0;
    while (after !== null) {
      const page: RunJournal = await request(`runs/${id}/journal`, { after, limit: 200 }, { signal });
      whole = whole ? appended(whole, page) : page;
      after = page.next;
    }
    onValue(whole!);
    onError(undefined);
  } catch (error) {
    if (!signal.aborted) onError(error as Error);
  }
}

function appended({ steps, events }: RunJournal, page: RunJournal): RunJournal {
  return { ...page, steps: [...steps, ...page.steps], events: [...events, ...page.events] };
}
