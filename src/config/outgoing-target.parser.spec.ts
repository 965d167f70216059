import { describe, expect, it } from 'vitest';
import { outgoingTargets, portList } from './outgoing-target.parser.js';

describe('OUTGOING_ALLOW', () => {
  it('names hosts, addresses and ranges, on one port or on all', () => {
    const text = 'DB.internal:8080, *.svc.example,10.1.0.0/16,10.1.2.3:80,fd00::1,[fd00::1]:81,[fd00::]/8,[::1]/128:9';
    expect(outgoingTargets().parse(text)).toEqual([
      { kind: 'name', name: 'db.internal', port: 8080 },
      { kind: 'name', name: '*.svc.example' },
      { kind: 'range', address: '10.1.0.0', prefix: 16 },
      { kind: 'range', address: '10.1.2.3', prefix: 32, port: 80 },
      { kind: 'range', address: 'fd00::1', prefix: 128 },
      { kind: 'range', address: 'fd00::1', prefix: 128, port: 81 },
      { kind: 'range', address: 'fd00::', prefix: 8 },
      { kind: 'range', address: '::1', prefix: 128, port: 9 },
    ]);
  });

  it.each([
    '*',
    '*.',
    'a.*.example',
    'http://example.com',
    'example.com/path',
    'db.internal:0',
    'db.internal:65536',
    'db.internal/8',
    '10.0.0.0/33',
    '10.0.0.256',
    '0x7f.1',
    '2130706433',
    '127.1',
    '[fd00::]/129',
    '[db.internal]',
    'user@db.internal',
    'a..b',
    '',
  ])('refuses %j', (entry) => {
    const { success, error } = outgoingTargets().safeParse(`example.com,${entry}`);
    expect(success).toBe(false);
    expect(error?.issues[0]?.message).toContain(`because of ${JSON.stringify(entry)}: give hosts as`);
  });
});

describe('OUTGOING_PORTS', () => {
  it('lists ports', () => {
    expect(portList().parse('443, 8443')).toEqual([443, 8443]);
    for (const wrong of ['0', '65536', '443;80', 'https', '443,'])
      expect(portList().safeParse(wrong).success).toBe(false);
  });
});
