import { Transform } from 'class-transformer';
import { markRaw, RawValue } from '../common/index.js';

const Unwrapped = Transform(({ obj, key }) => RawValue.unwrapped((obj as Record<string, unknown>)[key]), {
  toClassOnly: true,
});

/** A field that holds a user's own JSON: the pipe that checks requests leaves it as it is. */
export const AsItCame = (): PropertyDecorator => (prototype, field) => {
  markRaw(prototype, field);
  Unwrapped(prototype, field);
};
