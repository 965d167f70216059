import { z } from 'zod';
import type { JsonValue } from '../../common/index.js';

/** A JSON value whose texts may hold places such as `{{classify.response}}`. */
export type Template = JsonValue;

/** What must be true for a branch to go somewhere; every rule that is given must hold. */
export interface Condition {
  /** What is looked at: a place such as `{{classify.response}}`, or text around places. */
  readonly value: Template;
  /** It is this, as JSON; of texts neither capitals nor spaces around them count. */
  readonly equals?: Template;
  readonly notEquals?: Template;
  /** It is one of these. */
  readonly in?: readonly Template[];
  /** A text with this in it, in capitals or not, or a list with this in it. */
  readonly contains?: string;
  readonly greaterThan?: number;
  readonly lessThan?: number;
  /** Whether there is anything: neither null, nor blank, nor empty. */
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
