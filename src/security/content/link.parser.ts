import type { Finder } from './content.types.js';

/** Longest part of a link that is found, in UTF-16 units; the rest of a longer one is no link any more. */
const MOST = 1000;
const REST = `[^\\s<>"'\`)\\]]{1,${MOST}}`;

/** Images and links of Markdown and HTML, and addresses that a client may turn into links. All repetitions are bounded. */
const LINKS = new RegExp(
  [
    // An image of Markdown, whole.
    `!\\[[^\\]\\n]{0,300}\\](?:\\([^)\\n]{0,${MOST}}\\)|\\[[^\\]\\n]{0,300}\\])?`,
    // The target of a link, and of a reference. No look-behind: a stream is filtered in parts.
    `\\]\\([^)\\n]{0,${MOST}}\\)`,
    `\\]:[ \\t]{0,20}\\S{1,${MOST}}`,
    // A tag with an address.
    `<[a-z][^<>]{0,300}(?:src|href|url|data|poster)[^<>]{0,${MOST}}>`,
    // Absolute URLs.
    `[a-z][a-z0-9+.-]{0,30}:[/\\\\]{1,2}${REST}`,
    `(?:mailto|data|javascript|tel|sms):${REST}`,
    // URLs without a scheme.
    `["'(=][/\\\\]{2}${REST}`,
    `www\\.${REST}`,
    `(?:[a-z0-9-]{1,63}\\.){1,8}[a-z]{2,24}(?::\\d{1,5})?[/?#]${REST}`,
  ].join('|'),
  'gi',
);

/** Longest finding: a domain or a tag before the longest rest. */
const REACH = 1600;

/** Finds links and images. */
export const findLinks: Finder = Object.assign(
  (text: string) => [...text.matchAll(LINKS)].map(({ 0: link, index }) => ({ start: index, end: index + link.length })),
  { reach: REACH },
);
