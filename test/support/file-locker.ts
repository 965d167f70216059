import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

const SCRIPT = `
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(process.argv[1]);
  database.exec('PRAGMA busy_timeout = 5000');
  process.stdin.on('data', (sql) => {
    database.exec(String(sql));
    process.stdout.write('done');
  });
`;

/** Another process that locks a SQLite file; locks of one process do not conflict with each other. */
export class FileLocker {
  private readonly child: ChildProcess;

  constructor(file: string) {
    this.child = spawn(process.execPath, ['-e', SCRIPT, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  }

  lock(): Promise<void> {
    return this.execute('BEGIN IMMEDIATE');
  }

  unlock(): Promise<void> {
    return this.execute('ROLLBACK');
  }

  async close(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  private async execute(sql: string): Promise<void> {
    const done = once(this.child.stdout!, 'data');
    this.child.stdin!.write(sql);
    await done;
  }
}
