import { withTable } from './page-table.js';
import type { Trial } from './openapi-trial.js';

/** Facts about a document; `openapi.json` has those of the last run. */
export interface DocumentRow extends Omit<Trial, 'faults'> {
  readonly name: string;
  readonly origin: string;
}

const HEAD =
  '| Document | From | Version | Operations | Imported | Refused | Calls tried | Contradictory examples |\n' +
  '| --- | --- | --- | --- | --- | --- | --- | --- |';
const MAX_REASONS = 3;

/** The page with the table of these documents. */
export function withDocuments(page: string, rows: readonly DocumentRow[]): string {
  return withTable(page, 'documents', renderDocuments(rows));
}

function renderDocuments(rows: readonly DocumentRow[]): string {
  const lines = rows.map(({ name, origin, version, operations, imported, refused, calls, contradictions }) => {
    const cells = [
      name,
      origin,
      cellText(version),
      operations,
      imported,
      reasonsOf(refused),
      calls,
      contradictions.length,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [HEAD, ...lines].join('\n');
}

/** The most frequent reasons, with the number of operations. */
function reasonsOf(refused: DocumentRow['refused']): string {
  const counts = new Map<string, number>();
  for (const reason of Object.values(refused)) {
    const kind = cellText(reason.replaceAll(/"[^"]*"|\([^)]*\)?|^\S*(?:requestBody|parameter)\S*:? /g, '…'));
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  const shown = sorted.slice(0, MAX_REASONS).map(([reason, count]) => `${count} × ${reason}`);
  if (sorted.length > MAX_REASONS) shown.push('…');
  return shown.join('; ') || 'none';
}

function cellText(text: string): string {
  return text
    .replaceAll(/[|\n`<>]/g, ' ')
    .slice(0, 90)
    .trim();
}
