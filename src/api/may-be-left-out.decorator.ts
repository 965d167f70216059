import { ValidateIf } from 'class-validator';

/** An optional field. Unlike `IsOptional`, it validates `null` as a value. */
export const MayBeLeftOut = () => ValidateIf((_dto: object, value: unknown) => value !== undefined);
