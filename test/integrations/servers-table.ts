import { withTable } from './page-table.js';
/** Facts about a published server; `servers.json` has those of the last run. */
export interface ServerRow {
  readonly name: string;
  readonly npm: string;
  readonly version: string;
  /** Listed tools, those for resources and prompts included. */
  readonly tools: number;
  readonly imported: number;
  /** Reasons by tool. */
  readonly refused: Readonly<Record<string, string>>;
  /** Tools hidden until a person accepts them, with the first finding. */
  readonly hidden: Readonly<Record<string, string>>;
  /** The first warning of each tool that has any. */
  readonly warned: Readonly<Record<string, string>>;
  /** Number of calls tried, each with the expected outcome. */
  readonly calls: number;
}

const HEAD =
  '| Server | Version | Tools | Imported | Refused | Hidden | Warnings | Calls tried |\n| --- | --- | --- | --- | --- | --- | --- | --- |';

/** The page with the table of these servers. */
export function withServers(page: string, rows: readonly ServerRow[]): string {
  return withTable(page, 'servers', renderServers(rows));
}

function renderServers(rows: readonly ServerRow[]): string {
  const lines = rows.map(
    ({ npm, version, tools, imported, refused, hidden, warned, calls }) =>
      `| ${[`\`${npm}\``, version, tools, imported, reasons(refused), reasons(hidden), reasons(warned), calls].join(' | ')} |`,
  );
  return [HEAD, ...lines].join('\n');
}

function reasons(byTool: Readonly<Record<string, string>>): string {
  const texts = Object.entries(byTool).map(([tool, why]) => `\`${tool}\`: ${why}`);
  return texts.join('; ') || 'none';
}
