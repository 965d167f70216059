import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A process of the cluster; it is alive while its `beat` changes. */
@Entity('run_node')
export class RunNodeEntity {
  @PrimaryColumn('varchar', { length: 64 })
  id!: string;

  @Column('bigint')
  beat!: number;

  /** The queues it serves, separated by commas. */
  @Column('varchar', { length: 2000 })
  serves!: string;
}
