import { Injectable, type PipeTransform } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { fieldMistake } from '../kernel/index.js';

/** A name in a path. A blank name is a client error and not a missing resource. */
@Injectable()
export class NamePipe implements PipeTransform<string, string> {
  /** @throws AppError `VALIDATION_FAILED` */
  transform(name: string): string {
    if (name.trim() !== '') return name;
    const errors = [fieldMistake('name', 'must not be blank', 'isNotBlank', name)];
    throw new AppError('VALIDATION_FAILED', 'The name in the path must not be blank.', { details: { errors } });
  }
}
