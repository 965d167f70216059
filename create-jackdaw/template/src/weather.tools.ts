import { Injectable } from '@nestjs/common';
import { Tool } from 'jackdaw';

@Injectable()
export class WeatherTools {
  @Tool({ description: 'Returns the weather in a city.', effect: 'read', paramsDescription: 'Name of the city' })
  weather(city: string): string {
    return `Sunny in ${city}, 24 °C`;
  }
}
