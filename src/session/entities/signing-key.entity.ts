import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A random key with which this installation signs; all nodes share it. */
@Entity('signing_key', { withoutRowid: true })
export class SigningKeyEntity {
  @PrimaryColumn('varchar', { length: 64 })
  name!: string;

  /** JSON: the key in base64url. */
  @Column('text')
  secret!: string;
}
