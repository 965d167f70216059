import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Who did what to whose data, and when. Rows are added and, when they are old, deleted; never changed. */
@Entity('access_log', { withoutRowid: true })
@Index('access_log_by_tenant', ['tenant', 'at', 'id'])
@Index('access_log_by_age', ['at'])
export class AccessLogEntryEntity {
  @PrimaryColumn('varchar', { length: 64 })
  id!: string;

  @Column('varchar', { length: 128 })
  tenant!: string;

  /** Epoch ms. */
  @Column('bigint')
  at!: number;

  /** The id of who asked. */
  @Column('varchar', { length: 128 })
  principal!: string;

  @Column('varchar', { length: 32 })
  action!: string;

  @Column('varchar', { name: 'target_kind', length: 32 })
  targetKind!: string;

  @Column('varchar', { name: 'target_id', length: 128 })
  targetId!: string;
}
