import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What a model made of the beginning of a conversation. */
@Entity('session_summary', { withoutRowid: true })
export class SessionSummaryEntity {
  @PrimaryColumn('varchar', { length: 128 })
  tenant!: string;

  @PrimaryColumn('varchar', { name: 'session_id', length: 128 })
  sessionId!: string;

  /** The last turn that it tells of; it begins with the first. */
  @PrimaryColumn('integer')
  through!: number;

  @Column('text')
  summary!: string;

  @Column('integer')
  tokens!: number;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;
}
