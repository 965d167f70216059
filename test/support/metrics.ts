/** The text of a scrape. */
export const scrape = async (url: string): Promise<string> => (await fetch(`${url}/metrics`)).text();

/** The values of the series, by name and labels. */
export function seriesIn(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}
