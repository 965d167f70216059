import { request } from '../api';
import { t } from '../i18n';
import type { DatasetPage } from '../types';
import { ActionButton } from './parts';

/** Most lines of a downloaded dataset. */
const MOST_LINES = 1_000;

/** A button that downloads completed runs as a dataset in JSON Lines: all that match, or the one with the id. */
export function DatasetButton({
  query,
  id,
}: {
  readonly query: Readonly<Record<string, string | number | undefined>>;
  readonly id?: string;
}) {
  const download = async () => {
    const lines: { readonly id: string }[] = [];
    for (let cursor: string | null | undefined; cursor !== null && lines.length < MOST_LINES;) {
      const page: DatasetPage = await request('feedback/dataset', { ...query, limit: 200, ...(cursor && { cursor }) });
      lines.push(...page.lines.filter((line) => id === undefined || line.id === id));
      cursor = page.next;
    }
    if (lines.length === 0) throw new Error(t('dataset.none'));
    const text = lines.slice(0, MOST_LINES).map((line) => `${JSON.stringify(line)}\n`);
    const url = URL.createObjectURL(new Blob(text, { type: 'application/jsonl' }));
    const link = Object.assign(document.createElement('a'), { href: url, download: `${id ?? 'dataset'}.jsonl` });
    link.click();
    URL.revokeObjectURL(url);
  };
  return <ActionButton action={download}>{t(id === undefined ? 'dataset.runs' : 'dataset.run')}</ActionButton>;
}
