import { ValidateBy } from 'class-validator';

const WORDS: readonly unknown[] = ['auto', 'none', 'required'];

/** `auto`, `none`, `required`, or an object with a tool's `name` as its only field. */
export const IsToolChoice = () =>
  ValidateBy({
    name: 'isToolChoice',
    validator: {
      validate: (value) => WORDS.includes(value) || isNamed(value),
      defaultMessage: () => '$property must be "auto", "none", "required" or {"name": "…"}',
    },
  });

function isNamed(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { name, ...rest } = value as { readonly name?: unknown };
  return typeof name === 'string' && name.trim() !== '' && Object.keys(rest).length === 0;
}
