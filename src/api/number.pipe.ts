import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { AppError, fieldMistake } from '../common/index.js';

const MOST = 2_147_483_647;

/** A number in a path, such as that of a turn: from 1 on, as large as every database takes. */
@Injectable()
export class NumberPipe implements PipeTransform<number, number> {
  /** @param number as the global pipe has read it; `NaN` for a text that is none. @throws AppError `VALIDATION_FAILED` */
  transform(number: number, { data: field = 'id' }: ArgumentMetadata): number {
    if (Number.isInteger(number) && number >= 1 && number <= MOST) return number;
    const message = `${field} must be a whole number from 1 to ${MOST}`;
    throw new AppError('VALIDATION_FAILED', `The request is not valid: ${message}.`, {
      details: { errors: [fieldMistake(field, message, 'isInt', number)] },
    });
  }
}
