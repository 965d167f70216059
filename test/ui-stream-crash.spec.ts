import { expect, it } from 'vitest';
import { describeAiSdk, type Chat } from './support/ai-sdk.js';
import { gate } from './support/jackdaw.js';
import { ProcessWorld } from './support/process-world.js';

describeAiSdk('the UI message stream of a killed server', (sdk) => {
  const world = ProcessWorld.prepare();

  function textsOf({ messages }: Chat): readonly (string | undefined)[] {
    return messages.at(-1)!.parts.flatMap(({ type, text }) => (type === 'text' ? [text] : []));
  }

  it('continues by GET when the next server has the run', async () => {
    const [open, seen] = [gate(), gate()];
    world.llm
      .reply({ text: 'one two three four', stallAfter: 3 })
      .reply({ gate: open.opened, text: 'one two three four' });
    const server = await world.start();
    const chat = sdk().chat({ url: server.url, id: 'count', body: { resume: true }, onMessage: () => seen.open() });
    const sent = chat.sendMessage({ text: 'count' });
    await seen.opened;
    await server.kill();
    // As a page that is loaded again.
    await chat.stop();
    await sent;
    const { url } = await world.start();
    await world.llm.waitForRequest(2);
    const again = sdk().chat({ url, id: 'count', messages: chat.messages, onMessage: () => open.open() });
    await again.resumeStream();
    expect(again.error).toBeUndefined();
    expect(textsOf(again)).toEqual(['one two three four']);
    expect(again.messages.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id));
    expect(again.messages).toHaveLength(2);
    const [other, ended] = ['other', 'count'].map((id) => fetch(`${url}/api/agent/ui/${id}/stream`));
    expect([(await other!).status, (await ended!).status]).toEqual([204, 204]);
  });

  it('resumes a waiting run with its approval', async () => {
    world.llm.reply({ calls: [{ name: 'approved_step', arguments: { step: 1 } }] }, { text: 'Ready.' });
    const server = await world.start();
    const chat = sdk().chat({ url: server.url, id: 'step' });
    await chat.sendMessage({ text: 'go' });
    await server.kill();
    const { url } = await world.start();
    const again = sdk().chat({ url, id: 'step', messages: chat.messages });
    const call = chat.messages.at(-1)!.parts.find(({ approval }) => approval)!;
    await again.addToolApprovalResponse({ id: call.approval!.id, approved: true });
    await again.sendMessage();
    expect([again.error, textsOf(again)]).toEqual([undefined, ['Ready.']]);
    expect(world.effects()).toEqual(['approved_step 1']);
  });
});
