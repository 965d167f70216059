import { Fragment, options } from 'preact';

/**
 * Characters that change the direction of text, or are invisible: they could make a text look like another one. The
 * joiners are part of words in Arabic and Indic scripts, and of emoji.
 */
const DECEPTIVE =
  /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]|(?<![\p{Script=Arabic}\p{Mn}\p{Mc}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])[\u200c\u200d]/gu;
const TEXT_ATTRIBUTES = ['title', 'aria-label', 'alt'] as const;

/** Text with deceptive characters as their code points. */
function visible(text: string): string {
  return text.replaceAll(
    DECEPTIVE,
    (character) => `\u27e8U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}\u27e9`,
  );
}

/** From now on, all text of the page is visible text. Values of controls and copied texts stay as they are. */
export function showAllCharacters(): void {
  const next = options.vnode?.bind(options);
  options.vnode = (node) => {
    if (typeof node.type === 'string' || node.type === Fragment) makeVisible(node.props);
    next?.(node);
  };
}

function makeVisible(props: Record<string, unknown>): void {
  if (props['children'] !== undefined) props['children'] = visibleChild(props['children']);
  for (const name of TEXT_ATTRIBUTES) if (typeof props[name] === 'string') props[name] = visible(props[name]);
}

function visibleChild(child: unknown): unknown {
  if (typeof child === 'string') return visible(child);
  return Array.isArray(child) ? child.map(visibleChild) : child;
}
