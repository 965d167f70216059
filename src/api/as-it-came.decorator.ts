import { Transform } from 'class-transformer';

/** A field that holds a user's own JSON: class-transformer's copy of it would lack keys that every object has. */
export const AsItCame = () => Transform(({ obj, key }) => (obj as Record<string, unknown>)[key], { toClassOnly: true });
