import { z } from 'zod';
import { messageOf } from '../../errors/index.js';
import { type JsonPlace, JsonTextError, offsetOf, parseJsonText } from '../json/json-text.parser.js';
import { TextPlaces } from '../xml/xml.parser.js';
import type { AgentDraft, DraftReading, DraftSource } from './definition.parser.js';
import { readValue, Variables } from './value.parser.js';

const MAX_MISTAKES = 100;

const nameSchema = z.string('expected a text').min(1, 'expected a text that is not empty');
const includeSchema = z.strictObject({ src: nameSchema });
/** Fields of a file beside the definition. */
const FILE_FIELDS = {
  $schema: z.string('expected a text').optional(),
  name: nameSchema,
  extends: nameSchema.optional(),
  env: z.array(nameSchema, 'expected a list of names of variables').default([]),
};

type FileFields = { -readonly [Key in keyof typeof FILE_FIELDS]: z.output<(typeof FILE_FIELDS)[Key]> };
type Path = readonly PropertyKey[];

/** Parses an agent file in JSON: a definition with the additional `FILE_FIELDS`. */
export function readAgentJson(source: DraftSource): DraftReading {
  const places = new TextPlaces(source.file, source.text);
  try {
    const { value, place } = parseJsonText(source.text);
    if (isObject(value)) return new AgentObjectReader(source, places, place).read(value);
    return { mistakes: [`${places.at(place.offset)}: expected an object: { "name": "…", … }`] };
  } catch (error) {
    if (error instanceof JsonTextError) return { mistakes: [`${places.at(error.offset)}: ${error.message}`] };
    throw error;
  }
}

/** Reads the content of a file and collects its mistakes, except those of the definition. */
class AgentObjectReader {
  private readonly mistakes: string[] = [];
  private variables = Variables.declared([], {}, () => {});

  constructor(
    private readonly source: DraftSource,
    private readonly places: TextPlaces,
    private readonly place: JsonPlace,
  ) {}

  read(json: Record<string, unknown>): DraftReading {
    const fields = this.readFields(json);
    this.variables = Variables.declared(fields.env ?? [], this.source.env, (fault) => this.report(['env'], fault));
    const values = Object.fromEntries(
      Object.entries(json).flatMap(([key, value]) =>
        Object.hasOwn(FILE_FIELDS, key) ? [] : [[key, this.filled(value, [key])]],
      ),
    );
    this.include(values);
    if (this.mistakes.length > 0) return { mistakes: this.mistakes };
    return { draft: this.toDraft(values, fields as FileFields) };
  }

  private toDraft(values: Record<string, unknown>, { name, extends: base }: FileFields): AgentDraft {
    return {
      format: 'json',
      name,
      ...(base !== undefined && { extends: base }),
      input: { name, ...values },
      placeOf: (path) => this.placeOf(path),
    };
  }

  private readFields(json: Record<string, unknown>): Partial<FileFields> {
    const entries = Object.entries(FILE_FIELDS).flatMap(([key, schema]) => {
      const read = schema.safeParse(json[key]);
      if (read.success) return [[key, read.data]];
      if (json[key] === undefined) this.report([], `expected a ${key}: "${key}": "…"`);
      else for (const { path, message } of read.error.issues) this.report([key, ...path], message);
      return [];
    });
    return Object.fromEntries(entries) as Partial<FileFields>;
  }

  /** Replaces variables in all strings. */
  private filled(value: unknown, path: Path): unknown {
    if (Array.isArray(value)) return value.map((item, at) => this.filled(item, [...path, at]));
    if (isObject(value)) {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.filled(inner, [...path, key])]));
    }
    return typeof value === 'string' ? this.variables.fill(value, (fault) => this.report(path, fault)) : value;
  }

  /** Replaces file references by file contents: instructions and the schema of an answer. */
  private include(values: Record<string, unknown>): void {
    const { instructions, responseFormat } = values;
    const prompt = this.included(instructions, ['instructions']);
    if (prompt !== undefined) values['instructions'] = prompt.trimEnd();
    if (!isObject(responseFormat)) return;
    const path = ['responseFormat', 'schema'];
    const schema = this.included(responseFormat['schema'], path);
    if (schema === undefined) return;
    const read = readValue(schema, 'json');
    if ('expected' in read) this.report(path, `expected ${read.expected}`);
    else values['responseFormat'] = { ...responseFormat, schema: read.value };
  }

  private included(value: unknown, path: Path): string | undefined {
    const named = includeSchema.safeParse(value);
    if (!named.success) return undefined;
    try {
      return this.source.include(named.data.src);
    } catch (error) {
      this.report([...path, 'src'], messageOf(error));
      return undefined;
    }
  }

  private placeOf(path: Path): string {
    return this.places.at(offsetOf(this.place, path));
  }

  private report(path: Path, fault: string): void {
    const what = path.length > 0 ? `${path.join('.')}: ` : '';
    if (this.mistakes.length < MAX_MISTAKES) this.mistakes.push(`${this.placeOf(path)}: ${what}${fault}`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
