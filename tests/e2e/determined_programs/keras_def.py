"""A TFKerasTrial on a few hundred made-up digits: four blobs in 8x8 pixels, told apart by a small net."""

import numpy as np
import tensorflow as tf

from determined import keras


def digits(count, seed):
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, 4, count)
    images = 0.3 * chance.normal(size=(count, 8, 8)).astype(np.float32)
    for image, label in zip(images, labels):
        row, column = 4 * (label // 2), 4 * (label % 2)
        image[row:row + 4, column:column + 4] += 1
    return images, labels


class DigitsTrial(keras.TFKerasTrial):
    def __init__(self, context):
        self.context = context

    def build_model(self):
        model = self.context.wrap_model(tf.keras.Sequential([
            tf.keras.layers.Flatten(input_shape=(8, 8)),
            tf.keras.layers.Dense(self.context.get_hparam("hidden"), activation="relu"),
            tf.keras.layers.Dense(4)]))
        optimizer = self.context.wrap_optimizer(
            tf.keras.optimizers.legacy.SGD(self.context.get_hparam("learning_rate")))
        model.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
        return model

    def build_training_data_loader(self):
        return digits(256, 1)

    def build_validation_data_loader(self):
        return digits(64, 2)
