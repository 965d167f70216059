import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ChildLedger } from '../../dist/mcp/process/child-ledger.store.js';

// Starts programs of two applications, whose command lines contain the folder, and exits without a shutdown.
const [folder] = process.argv.slice(2);
for (const name of ['a', 'b']) {
  const ledger = new ChildLedger(join(folder, name));
  const { id } = ledger.open();
  const program = ['-e', 'setInterval(() => undefined, 1000)', folder];
  const child = spawn(process.execPath, program, { detached: true, stdio: 'ignore' });
  ledger.started(id, child.pid);
}
process.stdout.write('ready\n');
process.stdin.once('data', () => process.exit(0));
