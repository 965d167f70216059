import { RE2JS } from 're2js';
import { AppError, messageOf } from '../../errors/index.js';
import type { Finder, OwnPattern, Span } from './content.types.js';

/**
 * Maximum number of code points that a valid RE2 pattern can match. Infinity for a pattern without a bound. Infinity
 * also for an anchor of text or line, which a part of a text cannot decide.
 */
export function patternReach(pattern: string): number {
  return new ReachParser(pattern).alternatives();
}

const REPETITION = /(?:[*+]|\?|\{(\d+)(,?)(\d*)\})\??/y;
const GROUP = /\((?:\?(?:P?<\w+>|[a-zA-Z-]*:))?/y;
const FLAGS = /\(\?[a-zA-Z-]+\)/y;
const CLASS = /\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]/suy;
const QUOTED = /\\Q(.*?)(?:\\E|$)/suy;
const ANCHOR = /\^|\$|\\[Az]/y;
const BOUNDARY = /\\[bB]/y;
const CHARACTER = /\\[pP](?:\{[^}]*\}|.)|\\x(?:\{[^}]*\}|..)|\\[0-7]{1,3}|\\.|./suy;

class ReachParser {
  private at = 0;

  constructor(private readonly pattern: string) {}

  /** Parses up to the end of the group or of the pattern. */
  alternatives(): number {
    let most = this.sequence();
    while (this.pattern[this.at] === '|') {
      this.at++;
      most = Math.max(most, this.sequence());
    }
    return most;
  }

  private sequence(): number {
    let sum = 0;
    while (this.at < this.pattern.length && !/[|)]/.test(this.pattern[this.at]!)) sum += this.repeated(this.atom());
    return sum;
  }

  private atom(): number {
    if (this.take(FLAGS) || this.take(BOUNDARY)) return 0;
    if (this.take(ANCHOR)) return Infinity;
    if (this.take(CLASS)) return 1;
    const quoted = this.take(QUOTED);
    if (quoted) return Array.from(quoted[1]!).length;
    if (this.take(GROUP)) {
      const reach = this.alternatives();
      this.at++;
      return reach;
    }
    return this.take(CHARACTER) ? 1 : Infinity;
  }

  private repeated(reach: number): number {
    const repetition = this.take(REPETITION);
    if (!repetition || reach === 0) return reach;
    const [text, least, comma, most] = repetition;
    if (text.startsWith('?')) return reach;
    if (least === undefined || (comma === ',' && most === '')) return Infinity;
    return reach * Number(most === '' ? least : most);
  }

  private take(token: RegExp): RegExpExecArray | null {
    token.lastIndex = this.at;
    const found = token.exec(this.pattern);
    if (found) this.at = token.lastIndex;
    return found;
  }
}

/**
 * Compiles own patterns with RE2, which never backtracks: matching time is linear for every pattern and text.
 * @throws AppError `CONFIG_INVALID` naming every pattern that RE2 rejects or that matches the empty text
 */
export function createFinders(patterns: readonly OwnPattern[]): Finder[] {
  if (patterns.length === 0) return [];
  const mistakes: string[] = [];
  const finders = patterns.map(({ name, pattern }): Finder => {
    try {
      const compiled = RE2JS.compile(pattern);
      if (compiled.matcher('').find()) throw new Error('it matches the empty text: let it need at least one character');
      const find = (text: string): readonly Span[] => {
        const spans: Span[] = [];
        const matcher = compiled.matcher(text);
        while (matcher.find())
          if (matcher.end() > matcher.start()) spans.push({ start: matcher.start(), end: matcher.end() });
        return spans;
      };
      return Object.assign(find, { reach: patternReach(pattern) });
    } catch (error) {
      mistakes.push(`content.patterns "${name}": ${messageOf(error)} (look-around and back-references are not in RE2)`);
      return () => [];
    }
  });
  if (mistakes.length === 0) return finders;
  throw new AppError('CONFIG_INVALID', mistakes.join('\n'), { details: { mistakes } });
}
