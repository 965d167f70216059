import { ValidateBy } from 'class-validator';

/** A required field with any JSON value. Unlike `IsDefined`, it accepts `null`. */
export const IsPresent = () =>
  ValidateBy({
    name: 'isPresent',
    validator: { validate: (value) => value !== undefined, defaultMessage: () => '$property must be present' },
  });
