import type { ComponentChildren } from 'preact';

/**
 * Renders Markdown of a model to elements; HTML in it stays text. Supports paragraphs, headings, lists, quotes, code, tables,
 * emphasis and links to web pages. Images are shown as links, since a page must not load from other hosts.
 */
export function Markdown({ text }: { readonly text: string }) {
  return <div class="prose">{blocks(text.split('\n'))}</div>;
}

function blocks(lines: readonly string[]): ComponentChildren[] {
  const result: ComponentChildren[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at]!;
    const fence = /^\s*(```+|~~~+)\s*(\S*)/.exec(line);
    if (line.trim() === '') at++;
    else if (fence) {
      const end = lines.findIndex((each, index) => index > at && each.trim().startsWith(fence[1]!));
      const stop = end === -1 ? lines.length : end;
      result.push(
        <pre class="code" tabIndex={0}>
          <code>{lines.slice(at + 1, stop).join('\n')}</code>
        </pre>,
      );
      at = stop + 1;
    } else {
      const stop = endOf(lines, at);
      result.push(block(lines.slice(at, stop)));
      at = stop;
    }
  }
  return result;
}

const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const QUOTE = /^\s*>\s?/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

/** The line after a block that starts at a line. */
function endOf(lines: readonly string[], start: number): number {
  if (HEADING.test(lines[start]!)) return start + 1;
  const isList = ITEM.test(lines[start]!);
  for (let at = start + 1; at < lines.length; at++) {
    const line = lines[at]!;
    if (/^\s*(```|~~~)/.test(line)) return at;
    const continues = isList && (ITEM.test(line) || /^\s{2,}\S/.test(line));
    if (line.trim() === '') {
      if (isList && ITEM.test(lines[at + 1] ?? '')) continue;
      return at;
    }
    if (!continues && (HEADING.test(line) || (!isList && ITEM.test(line)))) return at;
  }
  return lines.length;
}

function block(lines: readonly string[]): ComponentChildren {
  const [first = ''] = lines;
  const heading = HEADING.exec(first);
  if (heading) {
    const Tag = `h${Math.min(heading[1]!.length + 2, 6)}` as 'h3';
    return <Tag>{inline(heading[2]!)}</Tag>;
  }
  if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(first)) return <hr />;
  if (QUOTE.test(first)) return <blockquote>{blocks(lines.map((line) => line.replace(QUOTE, '')))}</blockquote>;
  if (ITEM.test(first)) return list(lines);
  if (lines.length > 1 && first.includes('|') && TABLE_RULE.test(lines[1]!)) return table(lines);
  return <p>{lines.flatMap((line, at) => [...(at > 0 ? [<br />] : []), ...inline(line)])}</p>;
}

function list(lines: readonly string[]): ComponentChildren {
  const indent = ITEM.exec(lines[0]!)![1]!.length;
  const items: string[][] = [];
  for (const line of lines) {
    const match = ITEM.exec(line);
    if (match && match[1]!.length <= indent) items.push([match[3]!]);
    else items.at(-1)!.push(line.replace(/^\s{1,4}/, ''));
  }
  const content = items.map(([head = '', ...rest], at) => (
    <li key={at}>
      {inline(head)}
      {rest.length > 0 && blocks(rest)}
    </li>
  ));
  const number = /^\s*(\d+)/.exec(lines[0]!)?.[1];
  return number === undefined ? <ul>{content}</ul> : <ol start={Number(number)}>{content}</ol>;
}

function cells(row: string): string[] {
  return row.replace(/^\s*\||\|\s*$/g, '').split('|');
}

function table([head = '', , ...rows]: readonly string[]): ComponentChildren {
  return (
    <div class="scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {cells(head).map((cell, at) => (
              <th key={at}>{inline(cell.trim())}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {cells(row).map((cell, column) => (
                <td key={column}>{inline(cell.trim())}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Code, links, images, bold, italic, struck: the first that starts in the text. */
const INLINE =
  /(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)|!?\[([^\]]*)\]\(\s*<?([^\s)>]+)>?(?:\s+"[^"]*")?\s*\)|(\*\*|__)(?=\S)([\s\S]*?\S)\5|(?<![\w*])([*_])(?=\S)([^*_]*\S)\7(?!\w)|~~(\S[\s\S]*?)~~|https?:\/\/[^\s<>"')\]]+/;

function inline(text: string): ComponentChildren[] {
  const result: ComponentChildren[] = [];
  let rest = text;
  for (let match = INLINE.exec(rest); match; match = INLINE.exec(rest)) {
    if (match.index > 0) result.push(rest.slice(0, match.index));
    result.push(element(match));
    rest = rest.slice(match.index + match[0].length);
  }
  if (rest !== '') result.push(rest);
  return result;
}

function element(match: RegExpExecArray): ComponentChildren {
  const [whole, , code, label, target, , bold, , italic, struck] = match;
  if (code !== undefined) return <code>{code.replace(/^ (.*) $/, '$1')}</code>;
  if (target !== undefined) return link(target, label === '' ? target : label!);
  if (bold !== undefined) return <strong>{inline(bold)}</strong>;
  if (italic !== undefined) return <em>{inline(italic)}</em>;
  if (struck !== undefined) return <s>{inline(struck)}</s>;
  return link(whole, whole);
}

/** Only addresses of web pages and mail become links; the label shows the address if it names another one. */
function link(target: string, label: string): ComponentChildren {
  if (!/^(https?:\/\/|mailto:)/i.test(target)) return label;
  const shown = /^https?:\/\//.test(label) && label !== target ? `${label} (${target})` : label;
  return (
    <a href={target} target="_blank" rel="noopener noreferrer" title={target}>
      {shown}
    </a>
  );
}
