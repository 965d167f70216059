import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { ModelCapabilities } from '../../llm/index.js';
import { NativeProtocol } from './native.protocol.js';
import type { Protocol } from './protocol.js';
import { ReactProtocol } from './react/react.protocol.js';
import { XmlProtocol } from './xml/xml.protocol.js';

@Injectable()
export class ProtocolRegistry {
  private readonly protocols = new Map<string, Protocol>(
    [new NativeProtocol(), new ReactProtocol(), new XmlProtocol()].map((protocol) => [protocol.name, protocol]),
  );

  /** Until version 3 of the loop, `<think>` was text under native calling. */
  private readonly olderNative = new NativeProtocol(false);

  /**
   * @param loopVersion version of the recorded run; the current one by default
   * @throws AppError `AGENT_INVALID` for an unknown name
   */
  get(name: string, loopVersion = Number.POSITIVE_INFINITY): Protocol {
    if (name === this.olderNative.name && loopVersion < 4) return this.olderNative;
    const protocol = this.protocols.get(name);
    if (protocol) return protocol;
    const known = [...this.protocols.keys()].join(', ');
    throw new AppError('AGENT_INVALID', `There is no protocol "${name}"; there is: ${known}.`);
  }
}

/** The protocol of `auto`: `native` if the model supports it, else text that every model can write. */
export function protocolFor({ functionCalling }: ModelCapabilities): string {
  return functionCalling ? 'native' : 'react';
}
