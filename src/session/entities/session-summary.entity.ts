import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A model's summary of the first turns of a session. */
@Entity('session_summary', { withoutRowid: true })
export class SessionSummaryEntity {
  @PrimaryColumn('varchar', { length: 128 })
  tenant!: string;

  @PrimaryColumn('varchar', { name: 'session_id', length: 128 })
  sessionId!: string;

  /** The last summarised turn; the summary starts with the first turn. */
  @PrimaryColumn('integer')
  through!: number;

  @Column('text')
  summary!: string;

  @Column('integer')
  tokens!: number;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;
}
