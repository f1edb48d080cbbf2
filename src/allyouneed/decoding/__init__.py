"""Search for translations with any model that implements `protocol.Decodable`, and their scores."""
