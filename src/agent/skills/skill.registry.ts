import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import { ChangeListeners } from '../../kernel/index.js';
import { nearNames } from '../../kernel/text/index.js';
import { estimateTokens } from '../../llm/index.js';
import { anyPattern } from '../../tool/index.js';

/** A skill: instructions for one kind of task, which a model reads when it needs them (agentskills.io). */
export interface Skill {
  readonly name: string;
  /** Purpose of the skill and when to use it; 1 to 1,024 characters. */
  readonly description: string;
  /** The instructions. */
  readonly text: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Paths of the other files in its folder. */
  files(): Promise<readonly string[]>;
  /** Text of a file in its folder. @throws AppError for a path outside of it, and for a binary or too large file */
  read(path: string): Promise<string>;
}

/** The valid skills of the application, by name. */
@Injectable()
export class SkillRegistry {
  private skills: ReadonlyMap<string, Skill> = new Map();
  private broken: ReadonlySet<string> = new Set();
  /** Listeners for added, changed and removed skills. */
  readonly changes = new ChangeListeners();

  /** Replaces all skills. @param broken names of invalid skills, which an agent may name too */
  replaceAll(skills: Iterable<Skill>, broken: Iterable<string>): void {
    this.skills = new Map([...skills].map((skill) => [skill.name, skill]));
    this.broken = new Set(broken);
    this.changes.notify();
  }

  /** All skills in order of their names. */
  list(): readonly Skill[] {
    return [...this.skills.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  get(name: string): Skill | undefined {
    return this.skills.get(name);
  }

  /** The skills that match the patterns, each once, in order of their names. */
  select(patterns: readonly string[]): readonly Skill[] {
    const matches = anyPattern(patterns);
    return patterns.length === 0 ? [] : this.list().filter(({ name }) => matches(name));
  }

  /** @throws AppError `AGENT_INVALID` for a plain name that no skill has */
  assertKnown(pattern: string): void {
    if (pattern.includes('*') || this.skills.has(pattern) || this.broken.has(pattern)) return;
    const near = nearNames(pattern, this.skills.keys());
    const hint = near.length > 0 ? ` Did you mean ${near.map((name) => `"${name}"`).join(' or ')}?` : '';
    throw new AppError('AGENT_INVALID', `There is no skill "${pattern}".${hint}`, { details: { near } });
  }
}

/** A skill as the model sees it before it reads the skill. */
export interface OfferedSkill {
  readonly name: string;
  /** In one line, and shortened. */
  readonly description: string;
}

/** Estimates are at most a tenth below the exact count, which is then at most 120. */
const MAX_TOKENS = 108;

/** Name and description of a skill, at most 120 tokens together. */
export function toOffered({ name, description }: Pick<Skill, 'name' | 'description'>): OfferedSkill {
  const whole = description.split(/\s+/).join(' ').trim();
  if (isShort(name, whole)) return { name, description: whole };
  const characters = Array.from(whole);
  let [length, over] = [0, characters.length];
  while (over - length > 1) {
    const middle = Math.floor((length + over) / 2);
    if (isShort(name, `${characters.slice(0, middle).join('')}…`)) length = middle;
    else over = middle;
  }
  return { name, description: `${endingAtWord(characters.slice(0, length).join(''))}…` };
}

/** Adds the list of skills to the instructions of an agent. */
export function withSkills(instructions: string, skills: readonly OfferedSkill[]): string {
  const lines = skills.map(({ name, description }) => lineOf(name, description));
  return `${instructions}\n\nSkills are instructions for certain tasks. Before you do a task that a skill covers, read the skill with read_skill and follow it.\n${lines.join('\n')}`;
}

function isShort(name: string, description: string): boolean {
  const line = `${lineOf(name, description)}\n`;
  // A token has at least one byte.
  return Buffer.byteLength(line) <= MAX_TOKENS || estimateTokens(line) <= MAX_TOKENS;
}

function lineOf(name: string, description: string): string {
  return `- ${name}: ${description}`;
}

/** Removes the part of a word at the end, unless the text has no spaces. */
function endingAtWord(text: string): string {
  const end = text.lastIndexOf(' ');
  return end > text.length / 2 ? text.slice(0, end) : text;
}
