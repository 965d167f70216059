import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('book')
export class Book {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  title!: string;

  @Column()
  author!: string;

  /** The name of the reader who has it. */
  @Column({ name: 'lent_to', type: 'varchar', nullable: true })
  lentTo!: string | null;
}
