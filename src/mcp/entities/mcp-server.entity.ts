import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A server that was added over REST. */
@Entity('mcp_server', { withoutRowid: true })
export class McpServerEntity {
  @PrimaryColumn('varchar', { length: 32 })
  name!: string;

  /** The declaration as JSON; encrypted if rows are, because headers contain secrets. */
  @Column('text')
  declaration!: string;

  @Column('varchar', { name: 'created_by', length: 128 })
  createdBy!: string;

  /** Epoch ms. */
  @Column('bigint', { name: 'created_at' })
  createdAt!: number;
}
