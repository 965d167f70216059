import { configVariables } from '../../src/config/index.js';

export const README_BEGIN = '<!-- config:begin -->';
export const README_END = '<!-- config:end -->';

/** The README's table of variables. */
export function renderConfigTable(): string {
  const rows = configVariables().map(
    ({ name, default: fallback, description }) =>
      `| \`${name}\` | ${fallback ? `\`${fallback}\`` : ''} | ${description} |`,
  );
  return ['| variable | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

/** `config/.env.example`: every variable, commented out. */
export function renderEnvExample(): string {
  const head = ['# Copy to .env in the working directory; the process environment wins over it.'];
  const blocks = configVariables().map(
    ({ name, default: fallback = '', description }) => `# ${description.replaceAll('`', '')}\n#${name}=${fallback}`,
  );
  return `${[...head, ...blocks].join('\n\n')}\n`;
}

/** The cells of a Markdown table without padding, so that a formatter may pad the table. */
export function tableCells(markdown: string): string[][] {
  const lines = markdown.split('\n').filter((line) => line.startsWith('|') && !/^\|[\s|:-]+\|$/.test(line));
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
