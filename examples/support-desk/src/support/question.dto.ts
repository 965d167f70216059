import { IsOptional, IsString, Length } from 'class-validator';

export class Question {
  @IsString()
  @Length(1, 2_000)
  question!: string;

  /** Of an earlier answer, to go on with that conversation. */
  @IsOptional()
  @IsString()
  sessionId?: string;
}
