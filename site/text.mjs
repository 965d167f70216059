// Functions of texts that the browser executes, too: VitePress copies the source of `wordsOf` into the site.

/** The anchor of a heading, as GitHub builds it, so that links of the files are valid in both places. */
export const anchorOf = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/** The words of a text for the search. Chinese text has no spaces: its words are all pairs of characters. */
export function wordsOf(text) {
  const words = text.split(/[\n\r\p{Z}\p{P}]+/u);
  return words.flatMap((word) => {
    const parts = word.match(/\p{Script=Han}+|\P{Script=Han}+/gu) ?? [];
    return parts.flatMap((part) => {
      if (!/\p{Script=Han}/u.test(part) || part.length < 3) return [part];
      return Array.from({ length: part.length - 1 }, (_, at) => part.slice(at, at + 2));
    });
  });
}
