/** Compiles a name pattern: `*` matches any characters, everything else itself. */
export function namePattern(pattern: string): (name: string) => boolean {
  const parts = pattern.split(/\*+/);
  if (parts.length === 1) return (name) => name === pattern;
  const [first = '', ...rest] = parts;
  const last = rest.pop() ?? '';
  return (name) => {
    if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
    const end = name.length - last.length;
    let at = first.length;
    // The leftmost match of each part leaves the most text for the following parts.
    for (const part of rest) {
      const found = name.indexOf(part, at);
      if (found < 0 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}

/** Compiles several patterns; a name must match one of them. */
export function anyPattern(patterns: readonly string[]): (name: string) => boolean {
  const matchers = patterns.map(namePattern);
  return (name) => matchers.some((matches) => matches(name));
}
