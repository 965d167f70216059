/**
 * Merges metrics of workers in the text format of Prometheus, version 0.0.4: each series gets the label `worker`. Sums would
 * fall when a worker is replaced, which Prometheus reads as a restart of all.
 * @param texts the number of each worker and its metrics
 */
export function mergeMetrics(texts: readonly (readonly [worker: number, text: string])[]): string {
  const families = new Map<string, string[]>();
  for (const [worker, text] of texts) {
    let family: string[] = [];
    let isNew = false;
    for (const line of text.split('\n')) {
      const name = /^# HELP (\S+)/.exec(line)?.[1];
      if (name !== undefined) {
        isNew = !families.has(name);
        family = families.get(name) ?? [];
        families.set(name, family);
      }
      if (!line.startsWith('#')) family.push(...(line === '' ? [] : [withLabel(line, worker)]));
      else if (isNew) family.push(line);
    }
  }
  return [...families.values()].map((lines) => `${lines.join('\n')}\n`).join('');
}

/** @param line `name value`, or `name{label="value"} value` */
function withLabel(line: string, worker: number): string {
  const [, name = '', mark, rest = ''] = /^([^{ ]+)([{ ])(.*)$/.exec(line) ?? [];
  return mark === '{' ? `${name}{worker="${worker}",${rest}` : `${name}{worker="${worker}"} ${rest}`;
}
