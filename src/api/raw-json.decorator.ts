import { Transform } from 'class-transformer';
import { markRaw, RawValue } from '../kernel/json/index.js';

const Unwrapped = Transform(({ obj, key }) => RawValue.unwrapped((obj as Record<string, unknown>)[key]), {
  toClassOnly: true,
});

/** A field with the user's own JSON. The validation pipe passes its value unchanged. */
export const RawJson = (): PropertyDecorator => (prototype, field) => {
  markRaw(prototype, field);
  Unwrapped(prototype, field);
};
