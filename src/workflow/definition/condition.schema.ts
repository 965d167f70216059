import { z } from 'zod';
import type { JsonValue } from '../../kernel/json/index.js';

/** A JSON value whose texts may contain placeholders such as `{{classify.response}}`. */
export type Template = JsonValue;

/** Condition of a branch case; all rules that are set must hold. */
export interface Condition {
  /** The tested value: a placeholder such as `{{classify.response}}`, or text with placeholders. */
  readonly value: Template;
  /** Equal as JSON; texts are compared without case and surrounding whitespace. */
  readonly equals?: Template;
  readonly notEquals?: Template;
  /** Equal to one of these. */
  readonly in?: readonly Template[];
  /** A text that contains this, ignoring case, or a list with an equal item. */
  readonly contains?: string;
  readonly greaterThan?: number;
  readonly lessThan?: number;
  /** Whether the value is present: not null, not blank and not empty. */
  readonly exists?: boolean;
}

export const RULES = [
  'equals',
  'notEquals',
  'in',
  'contains',
  'greaterThan',
  'lessThan',
  'exists',
] as const satisfies readonly (keyof Condition)[];

export const templateSchema: z.ZodType<Template> = z.json();

export const conditionSchema = z
  .strictObject({
    value: templateSchema,
    equals: templateSchema.optional(),
    notEquals: templateSchema.optional(),
    in: z.array(templateSchema).optional(),
    contains: z.string().min(1).optional(),
    greaterThan: z.number().optional(),
    lessThan: z.number().optional(),
    exists: z.boolean().optional(),
  })
  .refine((condition) => RULES.some((rule) => condition[rule] !== undefined), `must have one of ${RULES.join(', ')}`);
