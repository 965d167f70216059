import { IsOptional, IsString, Length } from 'class-validator';

export class Question {
  @IsString()
  @Length(1, 2_000)
  question!: string;

  /** Session id of an earlier answer, to continue that conversation. */
  @IsOptional()
  @IsString()
  sessionId?: string;
}
