import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Visibility } from '../../../kernel/index.js';

/** A key made over REST. */
@Entity('api_key', { withoutRowid: true })
@Index('api_key_by_tenant', ['tenant', 'id'])
@Index('api_key_by_sha256', ['sha256'], { unique: true })
export class ApiKeyEntity {
  @PrimaryColumn('varchar', { length: 64 })
  id!: string;

  @Column('varchar', { length: 128 })
  tenant!: string;

  @Column('varchar', { length: 64 })
  sha256!: string;

  @Column('varchar', { length: 100 })
  name!: string;

  @Column('varchar', { length: 16 })
  role!: string;

  /** JSON. */
  @Column('text')
  scopes!: string;

  /** `null`: as the role says. */
  @Column('varchar', { length: 8, nullable: true })
  visibility!: Visibility | null;

  @Column('bigint', { name: 'created_at' })
  createdAt!: number;

  @Column('varchar', { name: 'created_by', length: 128 })
  createdBy!: string;

  @Column('bigint', { name: 'expires_at', nullable: true })
  expiresAt!: number | null;

  @Column('bigint', { name: 'revoked_at', nullable: true })
  revokedAt!: number | null;

  @Column('bigint', { name: 'last_used_at', nullable: true })
  lastUsedAt!: number | null;
}
