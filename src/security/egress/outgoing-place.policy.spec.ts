import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/index.js';
import { OutgoingPlacePolicy, toPlace } from './outgoing-place.policy.js';

function policyOf(env: Record<string, string> = {}): OutgoingPlacePolicy {
  return new OutgoingPlacePolicy(loadConfig({ env }).config.security.outgoing);
}

function faultOf(url: string, policy = policyOf()): string {
  const parsed = URL.parse(url);
  // An invalid URL cannot be called.
  if (!parsed) return 'no URL';
  try {
    policy.checkUrl(parsed);
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('the outgoing place policy', () => {
  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://127.0.1/',
    'http://127.255.255.254/',
    'http://0x7f.1/',
    'http://0x7f000001/',
    'http://0X7F.0.0.0x1/',
    'http://2130706433/',
    'http://017700000001/',
    'http://0177.0.0.01/',
    'http://127.0.0.1./',
    'http://0/',
    'http://0.0.0.0/',
    'http://0x0/',
    'http://00000/',
    'http://%31%32%37.0.0.1/',
    'http://127%2e0%2e0%2e1/',
    'http://１２７.０.０.１/',
    'http://127。0。0。1/',
    'http://①②⑦.0.0.①/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[0000::0001]/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[0:0:0:0:0:ffff:7f00:0001]/',
    'http://[::127.0.0.1]/',
    'http://[::7f00:1]/',
    'http://[::ffff:0:127.0.0.1]/',
    'http://[64:ff9b::127.0.0.1]/',
    'http://[64:ff9b::a00:1]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[64:ff9b:1::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2002:a9fe:a9fe::1]/',
    'http://[2001:0:7f00:1::]/',
    'http://[fe80::1]/',
    'http://[febf::1]/',
    'http://[fec0::1]/',
    'http://[fc00::1]/',
    'http://[fd12:3456::1]/',
    'http://[ff02::1]/',
    'http://[100::1]/',
    'http://[2001:db8::1]/',
    'http://[3fff::1]/',
    'http://[2001:2::1]/',
    'http://[4000::1]/',
    'http://[5f00::1]/',
    'http://10.0.0.1/',
    'http://10.1/',
    'http://0xa.1/',
    'http://167772161/',
    'http://172.16.0.1/',
    'http://172.31.255.255/',
    'http://192.168.0.1/',
    'http://0300.0250.0.1/',
    'http://3232235521/',
    'http://169.254.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0251.0376.0251.0376/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[fd00:ec2::254]/',
    'http://[fd20:ce::254]/',
    'http://100.100.100.200/',
    'http://168.63.129.16/',
    'http://192.0.0.192/',
    'http://100.64.0.1/',
    'http://198.18.0.1/',
    'http://192.0.2.1/',
    'http://198.51.100.1/',
    'http://203.0.113.1/',
    'http://192.0.0.1/',
    'http://192.88.99.1/',
    'http://224.0.0.1/',
    'http://239.255.255.250/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
  ])('refuses the address %s', (url) => {
    expect(faultOf(url)).toContain('is not public (');
  });

  it.each([
    ['http://localhost/', 'is this machine'],
    ['http://LOCALHOST/', 'is this machine'],
    ['http://localhost./', 'is this machine'],
    ['http://ｌｏｃａｌｈｏｓｔ/', 'is this machine'],
    ['http://loc%61lhost/', 'is this machine'],
    ['http://a.localhost/', 'is this machine'],
    ['http://a.b.localhost./', 'is this machine'],
    ['http://example.com@127.0.0.1/', 'user name or password'],
    ['http://127.0.0.1:80@example.com/', 'user name or password'],
    ['http://user:pass@example.com/', 'user name or password'],
    ['http://example.com\\@127.0.0.1/', 'none'],
    ['http://127.0.0.1\\@example.com/', 'not public (loopback)'],
    ['http://example.com#@127.0.0.1/', 'none'],
    ['http://[fe80::1%25eth0]/', 'no URL'],
    ['http://[fe80::1%eth0]/', 'no URL'],
    ['http://256.256.256.256/', 'no URL'],
    ['http://1.2.3.4.5/', 'no URL'],
    ['http://0x100000000/', 'no URL'],
    ['http://127.0.0.1%00.example.com/', 'no URL'],
    ['http:///127.0.0.1/', 'not public (loopback)'],
    ['http:127.0.0.1', 'not public (loopback)'],
    ['\thttp://127.0.0.1/', 'not public (loopback)'],
    ['ht\ntp://127.0\t.0.1/', 'not public (loopback)'],
    ['file:///etc/passwd', 'use http:// or https://'],
    ['ftp://example.com/', 'use http:// or https://'],
    ['gopher://127.0.0.1:6379/_INFO', 'use http:// or https://'],
    ['data:text/plain,hello', 'use http:// or https://'],
    ['http://example.com./', 'none'],
    ['https://1.1.1.1/', 'none'],
    ['https://[2606:4700:4700::1111]/', 'none'],
    ['https://[64:ff9b::101:101]/', 'none'],
    ['https://example.com:8443/', 'none'],
  ])('checks %j and reports: %s', (url, fault) => {
    expect(faultOf(url)).toContain(fault);
  });

  it('allows the configured hosts, addresses and ports only', () => {
    const policy = policyOf({
      OUTGOING_ALLOW: '10.1.0.0/16, 127.0.0.1:8080, [fd00::1]:9000, db.internal, *.svc.example:81, localhost:3000',
    });
    const allowed = ['http://10.1.2.3', 'http://0x7f.1:8080', 'http://[::ffff:7f00:1]:8080', 'http://[fd00:0::1]:9000'];
    expect(allowed.map((url) => faultOf(url, policy))).toEqual(allowed.map(() => 'none'));
    expect(faultOf('http://localhost:3000', policy)).toBe('none');
    const shut = ['http://10.2.0.1', 'http://127.0.0.1:8081', 'http://127.0.0.2:8080', 'http://[fd00::2]:9000'];
    for (const url of shut) expect(faultOf(url, policy)).toContain('is not public');
    expect(faultOf('http://localhost:3001', policy)).toContain('is this machine');
  });

  it.each([
    ['db.internal', 443, '10.9.9.9', true],
    ['DB.internal.', 443, '10.9.9.9', true],
    ['a.svc.example', 81, 'fd00::7', true],
    ['a.b.svc.example', 81, '127.0.0.1', true],
    ['a.svc.example', 82, 'fd00::7', false],
    ['svc.example', 81, 'fd00::7', false],
    ['evilsvc.example', 81, 'fd00::7', false],
    ['other.internal', 443, '10.9.9.9', false],
    // An allowed name does not allow metadata addresses: they must be listed as addresses.
    ['db.internal', 443, '169.254.169.254', false],
    ['db.internal', 443, '100.100.100.200', false],
    ['db.internal', 443, '169.254.7.7', false],
    ['db.internal', 443, '0.0.0.0', false],
  ])('decides whether %s:%i may resolve to %s: %s', (host, port, address, isAllowed) => {
    const policy = policyOf({ OUTGOING_ALLOW: 'db.internal,*.svc.example:81' });
    const fault = policy.addressFault(toPlace(host, port), address);
    expect(fault?.message ?? 'none').toContain(isAllowed ? 'none' : 'resolves to an address that is not public');
    // The message must not reveal an internal address.
    expect(fault?.message ?? '').not.toContain(address);
  });

  it('compares names without dots at their end, in a time that is linear in their length', () => {
    expect(toPlace('Example.COM..', 80)).toEqual({ host: 'example.com', port: 80 });
    const long = `a${'.'.repeat(1_000_000)}b`;
    expect(toPlace(long, 80).host).toBe(long);
  });

  it('allows a metadata address only if that address itself is listed', () => {
    const url = 'http://100.100.100.200';
    expect(faultOf(url, policyOf({ OUTGOING_ALLOW: '100.64.0.0/10' }))).toContain('metadata');
    expect(faultOf(url, policyOf({ OUTGOING_ALLOW: '100.100.100.200' }))).toBe('none');
  });

  it('allows redirects to entries with host and port, and to public addresses', () => {
    const given = policyOf({
      OUTGOING_ALLOW: '10.1.0.0/16,10.2.0.1:80,100.100.100.200,169.254.169.254:80,db.internal:80,[fd00::1]:80',
      OUTGOING_PORTS: '443,80',
    });
    const policy = given.ofRedirects();
    const open = [
      'http://10.2.0.1',
      'http://0xa.2.1',
      'http://[::ffff:a02:1]',
      'http://[fd00:0::1]',
      'https://1.1.1.1',
    ];
    expect(open.map((url) => faultOf(url, policy))).toEqual(open.map(() => 'none'));
    for (const url of ['http://10.1.0.1', 'http://100.100.100.200', 'https://10.2.0.1', 'http://[fd00::2]']) {
      expect(faultOf(url, policy)).toContain('is followed there only if OUTGOING_ALLOW names its host and port');
    }
    const reach = (name: string, address: string) => policy.addressFault(toPlace(name, 80), address)?.message ?? 'none';
    expect(reach('db.internal', '10.9.9.9')).toBe('none');
    expect(reach('db.internal', '169.254.169.254')).toContain('not public (metadata)');
    expect(reach('evil.example', '10.2.0.1')).toContain('not public (private)');
    expect(reach('evil.example', '1.1.1.1')).toBe('none');
    expect(given.addressFault(toPlace('evil.example', 80), '10.2.0.1')).toBeUndefined();
  });

  it('allows the configured ports only', () => {
    const policy = policyOf({ OUTGOING_PORTS: '443', OUTGOING_ALLOW: '10.0.0.1:5432' });
    expect(faultOf('https://1.1.1.1', policy)).toBe('none');
    expect(faultOf('http://1.1.1.1', policy)).toContain('Port 80 of 1.1.1.1 is not in OUTGOING_PORTS');
    expect(faultOf('http://10.0.0.1:5432', policy)).toBe('none');
    expect(policy.addressFault(toPlace('example.com', 22), '1.1.1.1')?.message).toContain('Port 22');
  });
});
