import { ValidateIf } from 'class-validator';

/** An optional field. Unlike `IsOptional`, it validates `null` as a value. */
export const Omittable = () => ValidateIf((_dto: object, value: unknown) => value !== undefined);
