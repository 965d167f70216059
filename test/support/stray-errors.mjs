// A server with tools whose code fails after their calls have ended.
import { serve, Tool } from '../../dist/index.js';

const fault = () => new Error('nothing awaits this');

class StrayTools {
  async rejects() {
    void Promise.reject(fault());
    return 'returned';
  }
  rejectsLater() {
    setTimeout(() => void Promise.reject(fault()), 1);
    return 'returned';
  }
  throwsInTimer() {
    setTimeout(() => {
      throw fault();
    }, 1);
    return 'returned';
  }
}
for (const name of ['rejects', 'rejectsLater', 'throwsInTimer']) {
  const method = Object.getOwnPropertyDescriptor(StrayTools.prototype, name);
  Tool({ description: 'Fails later.', effect: 'read' })(StrayTools.prototype, name, method);
}

const server = await serve({ tools: [StrayTools] });
process.stdout.write(`ready ${server.url}\n`);
