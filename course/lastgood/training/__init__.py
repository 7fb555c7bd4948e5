"""What a training run is: model, data, schedule, random numbers, and the step that ties them together."""
