/** Longer space is emitted at once, to bound the text that is held back. */
const MAX_GAP = 1_024;

/**
 * Builds the visible text of a reply, without the space around blocks. Between two texts around a block, the space
 * before the block is used, or else the space after it.
 */
export class VisibleTextBuilder {
  private out = '';
  private gap = '';
  private hasText = false;
  private isBlockInGap = false;
  private isGapFixed = false;

  add(text: string): void {
    const visible = text.trimEnd();
    if (visible === '') return this.addSpace(text);
    const start = visible.length - visible.trimStart().length;
    if (start > 0) this.addSpace(visible.slice(0, start));
    const isLeading = this.isBlockInGap && !this.hasText;
    this.out += (isLeading ? '' : this.gap) + visible.slice(start);
    this.hasText = true;
    this.reset();
    this.addSpace(text.slice(visible.length));
  }

  addBlock(): void {
    this.isBlockInGap = true;
    if (this.gap !== '') this.isGapFixed = true;
  }

  /** Returns the text that is final, and clears it. */
  take(): string {
    const text = this.out;
    this.out = '';
    return text;
  }

  end(): void {
    if (!this.isBlockInGap) this.out += this.gap;
    this.reset();
  }

  private addSpace(space: string): void {
    if (this.isGapFixed) return;
    this.gap += space;
    if (this.gap.length < MAX_GAP) return;
    if (this.isBlockInGap) this.gap = this.gap.slice(0, MAX_GAP);
    else this.passSpace();
  }

  private passSpace(): void {
    const passed = this.gap.length - (this.gap.length % MAX_GAP);
    this.out += this.gap.slice(0, passed);
    this.gap = this.gap.slice(passed);
    this.hasText = true;
  }

  private reset(): void {
    this.gap = '';
    this.isBlockInGap = false;
    this.isGapFixed = false;
  }
}
