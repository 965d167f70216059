import { isIP } from 'node:net';
import type { AppError } from '../../common/index.js';
import type { AppConfig, OutgoingTarget } from '../../config/index.js';
import { classifyAddress, isInRange } from './address-kind.policy.js';
import { refused } from './outgoing.error.js';
import type { OutgoingPlace } from './outgoing.types.js';

export type OutgoingRules = AppConfig['outgoing'];

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const ALLOWING = 'an operator can allow it with OUTGOING_ALLOW';
const LEADING = 'a redirect of another origin leads there only where OUTGOING_ALLOW names host and port';

/** Says which places may be called. It is asked of a URL, of what a name leads to, and of what is connected to. */
export class OutgoingPlacePolicy {
  constructor(
    private readonly rules: OutgoingRules,
    private readonly isOfRedirects = false,
  ) {}

  /**
   * What holds where a redirect from another origin leads: an entry that stands for a range, for many names or for any
   * port was meant for the calls that are declared, and not for whom a stranger sends there.
   */
  ofRedirects(): OutgoingPlacePolicy {
    return new OutgoingPlacePolicy({ ...this.rules, allow: this.rules.allow.filter(isOnePlace) }, true);
  }

  /**
   * Checks all that a URL says by itself. The URL is parsed as browsers do, so that every way to write an address
   * (`0x7f.1`, `2130706433`, full-width digits) has become the usual one. @throws AppError `OUTGOING_REFUSED`
   */
  checkUrl(url: URL): void {
    const port = DEFAULT_PORTS[url.protocol];
    if (port === undefined) throw refused(`${url.protocol}// is not called: use http:// or https://.`);
    if (url.username !== '' || url.password !== '') {
      throw refused(`The address of ${url.hostname} has a user name or password in it, which is not sent.`);
    }
    const fault = this.placeFault(toPlace(url.hostname, url.port === '' ? port : Number(url.port)));
    if (fault) throw fault;
  }

  /** Why a place is refused before anything is looked up. */
  placeFault(place: OutgoingPlace): AppError | undefined {
    const { host } = place;
    if (host === '') return refused('The address has no host.');
    if (isIP(host)) return this.addressFault(place, host);
    const isLocal = host === 'localhost' || host.endsWith('.localhost');
    return isLocal && this.allowing(place).length === 0
      ? refused(`${host} is this machine, which is not called; ${this.advice}.`)
      : undefined;
  }

  /** Why an address that a place leads to is refused. What it is, is said; which it is, only of one that was given. */
  addressFault(place: OutgoingPlace, address: string): AppError | undefined {
    const { kind, range } = classifyAddress(address);
    const ranges = this.rangesOf(place, address);
    const isOpen = {
      public: true,
      local: ranges.length > 0 || this.allowing(place).length > 0,
      metadata: ranges.some(isSingle),
      special: ranges.length > 0,
    }[kind];
    if (!isOpen) {
      const what = place.host === address ? `${address} is` : `${place.host} leads to an address that is`;
      return refused(`${what} not public (${range}), and is not called; ${this.advice}.`);
    }
    const isNamed = ranges.length > 0 || this.allowing(place).length > 0;
    return this.isClosed(place.port) && !isNamed ? portFault(place.host, place.port) : undefined;
  }

  private get advice(): string {
    return this.isOfRedirects ? LEADING : ALLOWING;
  }

  /** To redirects an address is open as such, and not to every name that leads to it. */
  private rangesOf({ host, port }: OutgoingPlace, address: string): readonly OutgoingTarget[] {
    if (this.isOfRedirects && isIP(host) === 0) return [];
    return this.rules.allow.filter((target) => isRangeOf(target, address, port));
  }

  private allowing({ host, port }: OutgoingPlace): readonly OutgoingTarget[] {
    return this.rules.allow.filter(
      (target) => target.kind === 'name' && fits(target.port, port) && isNameOf(target.name, host),
    );
  }

  private isClosed(port: number): boolean {
    return this.rules.ports.length > 0 && !this.rules.ports.includes(port);
  }
}

/** The place of a URL's host, as it stands there. */
export function toPlace(hostname: string, port: number): OutgoingPlace {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return { host: bare.toLowerCase().replace(/\.+$/, ''), port };
}

function isNameOf(name: string, host: string): boolean {
  return name.startsWith('*.') ? host.endsWith(name.slice(1)) && host.length >= name.length : host === name;
}

function isRangeOf(target: OutgoingTarget, address: string, port: number): boolean {
  return target.kind === 'range' && fits(target.port, port) && isInRange(address, target);
}

/** Whether it allows one address and no other. */
function isSingle(target: OutgoingTarget): boolean {
  return target.kind === 'range' && target.prefix === (isIP(target.address) === 4 ? 32 : 128);
}

function isOnePlace(target: OutgoingTarget): boolean {
  return target.port !== undefined && (target.kind === 'name' ? !target.name.startsWith('*.') : isSingle(target));
}

function fits(allowed: number | undefined, port: number): boolean {
  return allowed === undefined || allowed === port;
}

function portFault(host: string, port: number): AppError {
  return refused(`Port ${port} of ${host} is none of OUTGOING_PORTS, and is not called.`);
}
