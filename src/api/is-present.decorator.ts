import { ValidateBy } from 'class-validator';

/** A field that must be there, with any JSON value. Unlike with `IsDefined`, `null` is one. */
export const IsPresent = () =>
  ValidateBy({
    name: 'isPresent',
    validator: { validate: (value) => value !== undefined, defaultMessage: () => '$property must be there' },
  });
