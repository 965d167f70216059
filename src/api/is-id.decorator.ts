import { ValidateBy } from 'class-validator';
import { ID_RULE, isId } from '../kernel/index.js';

/** The id of a session. */
export const IsId = () =>
  ValidateBy({
    name: 'isId',
    validator: { validate: isId, defaultMessage: () => `$property must be ${ID_RULE}` },
  });
