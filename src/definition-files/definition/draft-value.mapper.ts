/** Builds an object by paths and records the text position of each value. */
export class DraftValues {
  readonly values: Record<string, unknown> = {};
  private readonly offsets = new Map<string, number>();

  /** @param path dotted; a final `[]` appends to a list @returns the path of the value */
  set(path: string, value: unknown, offset: number): string {
    const isItem = path.endsWith('[]');
    const keys = (isItem ? path.slice(0, -2) : path).split('.');
    const last = keys.pop()!;
    const holder = this.holder(keys);
    if (isItem) keys.push(last, String(append(holder, last, value)));
    else {
      holder[last] = value;
      keys.push(last);
    }
    const whole = keys.join('.');
    this.offsets.set(whole, offset);
    return whole;
  }

  /** Offset of the value, or of its nearest ancestor with an offset. */
  offsetOf(path: readonly PropertyKey[]): number | undefined {
    for (let length = path.length; length > 0; length--) {
      const offset = this.offsets.get(path.slice(0, length).join('.'));
      if (offset !== undefined) return offset;
    }
    return undefined;
  }

  /** Sets the offset for errors about missing values inside a path. */
  place(path: string, offset: number): void {
    this.offsets.set(path, offset);
  }

  private holder(keys: readonly string[]): Record<string, unknown> {
    let at = this.values;
    for (const key of keys) {
      const inner = at[key];
      at = (typeof inner === 'object' && inner !== null ? inner : (at[key] = {})) as Record<string, unknown>;
    }
    return at;
  }
}

/** @returns index in the list */
function append(holder: Record<string, unknown>, key: string, value: unknown): number {
  const list = (holder[key] ??= []) as unknown[];
  return list.push(value) - 1;
}
